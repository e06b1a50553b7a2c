import { useState, type KeyboardEvent, type ReactNode } from 'react';
import type { Violation } from '../../api/request';
import { draftOf, emptyDraft, inputFor, jsonOf, mistakeIn, type Draft } from '../types/inputs';
import type { Schema } from '../types/schema';
import { ValueInput } from '../types/ValueInput';
import { Violations } from '../types/ViolationList';
import { violationsAt, violationsElsewhere } from '../types/violations';

interface Props {
  label: string;
  /** The JSON Pointer of the value. */
  pointer: string;
  schema: Schema | undefined;
  /** JSON; undefined if nothing is stored yet. */
  initial: string | undefined;
  submit: string;
  /** Why the value was not stored. */
  violations: readonly Violation[];
  /** Further fields in front of the value. */
  children?: ReactNode;
  /** Ends when it is known whether the value is stored. */
  onSubmit: (text: string) => Promise<void>;
  onCancel: () => void;
}

/** A value in the input that fits its type. Enter stores it, Shift-Enter begins a new line. */
export function ValueFields({ label, pointer, schema, initial, submit, violations, children, onSubmit, onCancel }: Props) {
  const begin = () => (initial === undefined ? emptyDraft(schema) : draftOf(initial, schema));
  const fit = inputFor(schema);
  const [{ draft, fits }, setState] = useState(() => ({ draft: begin(), fits: fit }));
  const setDraft = (draft: Draft) => setState({ draft, fits: fit });
  // Another name of a new member can have another type.
  if (fits !== fit) setDraft(draft.typed === '' || mistakeIn(draft) !== undefined ? begin() : draftOf(jsonOf(draft, schema), schema));
  const storable = mistakeIn(draft) === undefined;
  const [sending, setSending] = useState(false);
  const send = () => {
    if (!storable || sending) return;
    setSending(true);
    void onSubmit(jsonOf(draft, schema)).finally(() => setSending(false));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onCancel();
    else if (event.key === 'Enter' && !event.shiftKey) send();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <form noValidate onSubmit={(event) => (event.preventDefault(), send())}>
      {children}
      <ValueInput
        label={label}
        pointer={pointer}
        schema={schema}
        draft={draft}
        onDraft={setDraft}
        violations={violationsAt(violations, pointer)}
        autoFocus={children === undefined}
        onKeyDown={onKeyDown}
      />
      <Violations of={violationsElsewhere(violations, [pointer])} at="" />
      <div className="buttons">
        <button type="submit" className="primary" disabled={sending || !storable}>{submit}</button>
        <button type="button" onClick={onCancel}>Cancel</button>
      </div>
    </form>
  );
}
