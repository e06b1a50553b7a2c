import { inputFor } from '../types/inputs';
import type { Schema } from '../types/schema';
import { TypedInput } from '../types/TypedInput';
import { COMPARES_WHOLE, type Operator } from './filter';

interface Props {
  schema: Schema | undefined;
  operator: Operator;
  /** As it was typed. */
  value: string;
  onValue: (value: string) => void;
}

/** What a condition compares with: in the input of the type, if whole values are compared. */
export function ConditionValue({ schema, operator, value, onValue }: Props) {
  const input = inputFor(schema);
  if (COMPARES_WHOLE.includes(operator) && ['choice', 'reference', 'date'].includes(input)) {
    return (
      <TypedInput
        label="Value"
        schema={schema}
        draft={{ input, typed: value }}
        onDraft={({ typed }) => onValue(typed)}
        described=""
        invalid={false}
      />
    );
  }
  return (
    <input aria-label="Value" placeholder="value" value={value} spellCheck={false} onChange={(event) => onValue(event.target.value)} />
  );
}
