import { useId, useState } from 'react';
import { ConditionFields } from './ConditionFields';
import { isSearching, rooted, type Condition, type Search } from './filter';
import type { FilterField } from '../types/typePaths';

interface Props {
  collection: string;
  fields: readonly FilterField[];
  search: Search;
  onSearch: (search: Search) => void;
  onGraphiql: () => void;
  query: () => { query: string; variables: string };
}

const NEW: Condition = { at: '', operator: 'eq', value: '' };

/** A search in all strings, and conditions on the fields of the type or of documents, or on any JSONPath. */
export function FilterBuilder({ collection, fields, search, onSearch, onGraphiql, query }: Props) {
  const [draft, setDraft] = useState(search);
  const [shown, setShown] = useState(false);
  const [added, setAdded] = useState(false);
  const listId = useId();
  const { conditions } = draft;
  const change = (index: number, condition: Condition | undefined) => {
    const next = conditions.flatMap((old, at) => (at !== index ? [old] : condition ? [condition] : []));
    setDraft({ ...draft, conditions: next });
    if (next.length === 0) onSearch({ ...search, conditions: [] });
  };
  const type = (text: string) => {
    setDraft({ ...draft, text });
    if (text === '' && search.text !== '') onSearch({ ...search, text });
  };
  return (
    <form
      className="filter"
      aria-label="Filter"
      onSubmit={(event) => {
        event.preventDefault();
        const next = { ...draft, conditions: conditions.map((one) => ({ ...one, at: rooted(one.at) })) };
        setDraft(next);
        onSearch({ ...next, conditions: next.conditions.filter(({ at }) => at !== '') });
      }}
    >
      <datalist id={listId}>
        {fields.map(({ at, kinds, schema }) => (
          <option key={at} value={at}>{[kinds.join(', ').toLowerCase(), schema?.description].filter(Boolean).join(': ')}</option>
        ))}
      </datalist>
      <div className="buttons">
        <input
          type="search"
          aria-label="Search in all strings"
          placeholder="Search in all strings"
          value={draft.text}
          spellCheck={false}
          onChange={(event) => type(event.target.value)}
        />
        {isSearching(draft) && <button type="submit" className="primary">Find</button>}
        <button type="button" onClick={() => (setAdded(true), setDraft({ ...draft, conditions: [...conditions, NEW] }))}>
          {conditions.length === 0 ? 'Filter' : 'Add a condition'}
        </button>
        {conditions.length > 1 && (
          <select
            aria-label="Which conditions must hold"
            value={draft.match}
            onChange={(event) => setDraft({ ...draft, match: event.target.value as Search['match'] })}
          >
            <option value="all">all of them</option>
            <option value="any">any of them</option>
          </select>
        )}
        <button type="button" aria-expanded={shown} onClick={() => setShown(!shown)}>GraphQL</button>
      </div>
      {conditions.map((condition, index) => (
        <ConditionFields
          key={index}
          collection={collection}
          fields={fields}
          listId={listId}
          condition={condition}
          added={added}
          onChange={(next) => change(index, next)}
        />
      ))}
      {shown && (
        <div className="query-text">
          <pre tabIndex={0} aria-label="The query of the table">{query().query}</pre>
          <pre tabIndex={0} aria-label="Its variables">{query().variables}</pre>
          <button type="button" onClick={onGraphiql}>Open in GraphiQL</button>
        </div>
      )}
    </form>
  );
}
