import type { KeyboardEvent } from 'react';
import { textOfString } from '../document/strings';
import { shownName } from '../place';
import { choicesOf, type Draft } from './inputs';
import { ReferenceInput } from './ReferenceInput';
import type { Schema } from './schema';

interface Props {
  label: string;
  schema: Schema | undefined;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** The ids of what describes it. */
  described: string;
  invalid: boolean;
  autoFocus?: boolean | undefined;
  onKeyDown?: ((event: KeyboardEvent) => void) | undefined;
}

const LINES: Record<string, string> = { email: 'email', uri: 'url' };
const ROWS_MAX = 16;

/** One input for a draft. */
export function TypedInput({ label, schema, draft, onDraft, described, invalid, autoFocus, onKeyDown }: Props) {
  const { input, typed } = draft;
  const shared = {
    'aria-label': label,
    'aria-describedby': described,
    'aria-invalid': invalid,
    autoFocus,
    onKeyDown,
    value: typed,
    onChange: (event: { target: { value: string } }) => onDraft({ input, typed: event.target.value }),
  };
  switch (input) {
    case 'choice':
      return (
        <select {...shared}>
          <option value="">Choose …</option>
          {schema && choicesOf(schema).map((json) => <option key={json} value={json}>{shownChoice(json)}</option>)}
        </select>
      );
    case 'date':
      return <input type="date" {...shared} />;
    case 'time':
      return <span><input type="datetime-local" step={typed.includes('.') ? 0.001 : 1} {...shared} /> UTC</span>;
    case 'number':
      return <input inputMode="decimal" spellCheck={false} {...shared} />;
    case 'line':
      return <input type={LINES[schema?.format ?? ''] ?? 'text'} spellCheck={false} {...shared} />;
    case 'reference':
      return <ReferenceInput collection={schema?.reference?.collection ?? ''} {...shared} />;
    case 'text':
    case 'json':
      return <textarea rows={Math.min(Math.max(typed.split('\n', ROWS_MAX + 1).length, 1), ROWS_MAX)} spellCheck={false} {...shared} />;
  }
}

/** A string as its text. */
const shownChoice = (json: string) => (json.startsWith('"') ? shownName(textOfString(json)) : json);
