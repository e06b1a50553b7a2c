import { isForbiddenByRules, mayPass, RequestError } from '../api/request';

/** In words of the page where it knows more than the server. The codes are those of docs/errors.md. */
const SAID: Record<string, string> = {
  UNAUTHENTICATED: 'This server requires a token.',
  FORBIDDEN: 'Only reading is allowed here: by this token, or by the server.',
};

/** An error in words. If the same request can succeed later, it offers `onRetry`. */
export function Failure({ error, onRetry }: { error: Error; onRetry?: (() => void) | undefined }) {
  const code = error instanceof RequestError ? error.code : '';
  return (
    <>
      <span className="failure" role="alert">
        {isForbiddenByRules(error) ? `The access rules do not allow this: ${error.message}.` : (SAID[code] ?? error.message)}
        {code !== '' && <code>{code}</code>}
      </span>
      {onRetry && mayPass(error) && <> <button type="button" onClick={onRetry}>Try again</button></>}
    </>
  );
}
