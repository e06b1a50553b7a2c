// The errors of a type, at the fields that they are about.
import type { Violation } from '../../api/request';

/** Those of a place and of what is below it. */
export function violationsAt(violations: readonly Violation[], pointer: string): Violation[] {
  return violations.filter(({ place }) => isAt(place, pointer));
}

/** Those that no field with one of these places shows. */
export function violationsElsewhere(violations: readonly Violation[], pointers: readonly string[]): Violation[] {
  return violations.filter(({ place }) => !pointers.some((pointer) => isAt(place, pointer)));
}

const isAt = (place: string, pointer: string) => place === pointer || place.startsWith(`${pointer}/`);

/** In words; the place is said if it is below that of the field. */
export function sayViolation({ place, expected, value }: Violation, pointer: string): string {
  const below = place === pointer ? '' : ` at ${place}`;
  return `Expected ${expected}${below}${value == null ? '' : `, not ${value}`}.`;
}
