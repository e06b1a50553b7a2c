// JSON strings as the text that they are.

/** The text of a JSON string. */
export const textOfString = (json: string): string => String(JSON.parse(json));

/**
 * Whether a text field keeps the string as it is: it turns other ends of lines into "\n", and shows
 * nothing of control characters.
 */
export function isPlainText(json: string): boolean {
  return !/[^\P{Cc}\n\t]/u.test(textOfString(json));
}
