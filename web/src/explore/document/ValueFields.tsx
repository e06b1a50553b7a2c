import { useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { jsonMistake } from '../../api/json';
import { isPlainText, textOfString } from './strings';

interface Props {
  label: string;
  initial: string;
  submit: string;
  busy: boolean;
  /** Further fields in front of the value. */
  children?: ReactNode;
  onSubmit: (text: string) => void;
  onCancel: () => void;
}

/** A value as JSON, or a string as the text that it is. Enter stores it, Shift-Enter begins a new line. */
export function ValueFields({ label, initial, submit, busy, children, onSubmit, onCancel }: Props) {
  const [asText, setAsText] = useState(initial.startsWith('"') && isPlainText(initial));
  const [text, setText] = useState(asText ? textOfString(initial) : initial);
  const mistakeId = useId();
  const json = asText ? JSON.stringify(text) : text;
  const mistake = asText ? undefined : jsonMistake(text);
  const send = () => mistake === undefined && !busy && onSubmit(json);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onCancel();
    else if (event.key === 'Enter' && !event.shiftKey) send();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const switchTo = (toText: boolean) => {
    setAsText(toText);
    setText(toText ? textOfString(json) : json);
  };
  return (
    <form onSubmit={(event) => (event.preventDefault(), send())}>
      {children}
      <textarea
        aria-label={label}
        aria-invalid={mistake !== undefined}
        aria-describedby={mistakeId}
        autoFocus={children === undefined}
        spellCheck={false}
        rows={Math.min(Math.max(text.split('\n', 20).length, 1), 16)}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <p id={mistakeId} className="mistake" role="status">{mistake}</p>
      <div className="buttons">
        <button type="submit" className="primary" disabled={busy || mistake !== undefined}>{submit}</button>
        <button type="button" onClick={onCancel}>Cancel</button>
        <label>
          <input
            type="checkbox"
            checked={asText}
            disabled={!asText && !(mistake === undefined && text.trim().startsWith('"') && isPlainText(text))}
            onChange={(event) => switchTo(event.target.checked)}
          />{' '}
          Text without quotation marks
        </label>
      </div>
    </form>
  );
}
