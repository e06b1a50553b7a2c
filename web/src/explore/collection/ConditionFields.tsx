import { TryDocument } from '../../api/generated';
import { request, ResponseTooLarge } from '../../api/request';
import { useLoaded } from '../../api/useLoaded';
import { Failure } from '../Failure';
import { shownName } from '../place';
import type { FilterField } from '../types/typePaths';
import { useDebounced } from '../useDebounced';
import { isContainer, summaryOf } from '../kinds';
import { readShort } from '../values';
import { ConditionValue } from './ConditionValue';
import { hasValue, literalOf, OPERATORS, rooted, type Condition, type Operator } from './filter';

interface Props {
  collection: string;
  fields: readonly FilterField[];
  listId: string;
  condition: Condition;
  /** Whether the user has just added it. */
  added: boolean;
  /** Without a condition, it is removed. */
  onChange: (condition: Condition | undefined) => void;
}

/** One condition: a JSONPath, an operator and a value. */
export function ConditionFields({ collection, fields, listId, condition, added, onChange }: Props) {
  const { at, operator, value } = condition;
  const { kinds = [], schema } = fields.find((field) => field.at === rooted(at)) ?? {};
  return (
    <fieldset className="condition">
      <legend>Condition</legend>
      <input
        aria-label="JSONPath"
        placeholder="$.path"
        list={listId}
        value={at}
        spellCheck={false}
        autoFocus={added}
        onChange={(event) => onChange({ ...condition, at: event.target.value })}
        onBlur={() => at !== rooted(at) && onChange({ ...condition, at: rooted(at) })}
      />
      <select
        aria-label="Operator"
        value={operator}
        onChange={(event) => onChange({ ...condition, operator: event.target.value as Operator })}
      >
        {Object.entries(OPERATORS).map(([name, label]) => <option key={name} value={name}>{label}</option>)}
      </select>
      {hasValue(operator) && (
        <ConditionValue schema={schema} operator={operator} value={value} onValue={(value) => onChange({ ...condition, value })} />
      )}
      <button type="button" onClick={() => onChange(undefined)}>Remove</button>
      <p className="about">
        {hasValue(operator) && value !== '' && <>Compared with <code>{literalOf(condition, kinds)}</code>. </>}
        <PathTrial collection={collection} at={rooted(at)} />
      </p>
    </fieldset>
  );
}

const BYTES_MAX = 2 ** 20;

/** What the path selects in the first document, tried as it is typed. */
function PathTrial({ collection, at }: { collection: string; at: string }) {
  const query = useDebounced(at);
  const { data, error } = useLoaded(query, async (signal) => {
    if (query === '') return undefined;
    const { documents } = await request(TryDocument, { collection, query }, { signal, maxBytes: BYTES_MAX });
    const [node] = documents.nodes;
    const [first] = node?.select ?? [];
    const text = first && (await readShort([first], signal)).get(first.id);
    return node && { key: node.key, count: node.select.length, first, text };
  });
  if (error instanceof ResponseTooLarge) return <>Selects too much of the first document to show it.</>;
  if (error) return <Failure error={error} />;
  if (!data) return null;
  const { key, count, first, text } = data;
  if (!first) return <>Selects nothing in <bdi>{shownName(key)}</bdi>.</>;
  return (
    <>
      In <bdi>{shownName(key)}</bdi>: <code>{isContainer(first) ? summaryOf(first) : (text ?? summaryOf(first))}</code>
      {count > 1 && ` and ${(count - 1).toLocaleString('en')} more`}
    </>
  );
}
