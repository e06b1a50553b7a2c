import { useId, type KeyboardEvent } from 'react';
import type { Violation } from '../../api/request';
import { isPlainText } from '../document/strings';
import { emptyDraft, inputFor, mistakeIn, switched, untypedDraft, type Draft } from './inputs';
import { expectationOf, type Schema } from './schema';
import { TypedInput } from './TypedInput';
import { Violations } from './ViolationList';

interface Props {
  label: string;
  /** The JSON Pointer of the value. */
  pointer: string;
  schema: Schema | undefined;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** Errors of the type at the value. */
  violations: readonly Violation[];
  /** Whether it may be left empty. */
  optional?: boolean;
  autoFocus?: boolean;
  onKeyDown?: (event: KeyboardEvent) => void;
}

/** A value in the input that fits its type, as text or as JSON; with what is wrong with it. */
export function ValueInput({ label, pointer, schema, draft, onDraft, violations, optional = false, autoFocus, onKeyDown }: Props) {
  const hintId = useId();
  const mistakeId = useId();
  const violationsId = useId();
  const empty = draft.typed === '';
  const mistake = optional && empty ? undefined : mistakeIn(draft);
  const wrong = (mistake !== undefined && !empty) || violations.length > 0;
  const hint = schema ? [schema.description, expectationOf(schema), schema.deprecated && 'deprecated'].filter(Boolean).join(' · ') : '';
  return (
    <>
      {hint !== '' && <p id={hintId} className="about">{hint}</p>}
      <TypedInput
        label={label}
        schema={schema}
        draft={draft}
        onDraft={onDraft}
        described={`${mistakeId} ${violationsId} ${hintId}`}
        invalid={wrong}
        autoFocus={autoFocus}
        onKeyDown={onKeyDown}
      />
      <span className="switches"><Switches label={label} schema={schema} draft={draft} onDraft={onDraft} /></span>
      <p id={mistakeId} className={wrong ? 'mistake' : 'mistake about'} role="status">{mistake}</p>
      <Violations of={violations} at={pointer} id={violationsId} />
    </>
  );
}

type SwitchProps = Pick<Props, 'label' | 'schema' | 'draft' | 'onDraft'>;

/** How the value is written. */
function Switches({ label, schema, draft, onDraft }: SwitchProps) {
  const fit = inputFor(schema);
  const { input, typed } = draft;
  const isNull = input === 'json' && typed === 'null';
  const asText = input === 'text';
  const canBeText = schema === undefined || schema.kinds.length === 0 || schema.kinds.includes('string');
  const couldBeText = input === 'json' && mistakeIn(draft) === undefined && typed.trim().startsWith('"') && isPlainText(typed);
  const toText = (on: boolean) => (on ? untypedDraft(typed.trim()) : switched(draft, schema, true));
  return (
    <>
      {schema?.nullable && fit !== 'choice' && (
        <Switch
          name={`${label} is null`}
          text="null"
          on={isNull}
          onSwitch={(on) => onDraft(on ? { input: 'json', typed: 'null' } : emptyDraft(schema))}
        />
      )}
      {fit === 'json' ? (
        canBeText && <Switch name={`${label} as text`} text="Text without quotation marks" on={asText} disabled={!asText && !couldBeText} onSwitch={(on) => onDraft(toText(on))} />
      ) : (
        <Switch name={`${label} as JSON`} text="As JSON" on={input === 'json'} onSwitch={(on) => onDraft(switched(draft, schema, on))} />
      )}
    </>
  );
}

interface SwitchOf {
  name: string;
  text: string;
  on: boolean;
  disabled?: boolean;
  onSwitch: (on: boolean) => void;
}

function Switch({ name, text, on, disabled, onSwitch }: SwitchOf) {
  return (
    <label>
      <input type="checkbox" aria-label={name} checked={on} disabled={disabled} onChange={(event) => onSwitch(event.target.checked)} /> {text}
    </label>
  );
}
