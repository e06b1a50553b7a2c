// Whether the token allows changes, so that nothing offers them that the server rejects.
import { AccessDocument } from './generated';
import { request } from './request';
import { reportOpen, token } from './session';

/** Asks the server. A rejection is noted as that of any other request. */
export async function learnAccess(): Promise<void> {
  const asked = token();
  try {
    await request(AccessDocument, {});
  } catch {
    // If it is not a rejection, nothing is known: an edit says what the server says.
  }
  if (token() === asked) reportOpen();
}
