import { FieldReader, MalformedMessage } from '../../guard/tensors/wire/field-reader.ts';
import { keyOf } from '../../guard/tensors/wire/infer-messages.ts';
import { invalidRequest } from '../contract/request-error.ts';
import type { RepositoryRequest } from '../service/model-repository.ts';

/** Max fields of a message. */
const MAX_FIELDS = 1024;

/**
 * Decodes a RepositoryModelLoadRequest or RepositoryModelUnloadRequest, whose fields are the same. The values of
 * parameters are not read. Throws RequestError: INVALID_REQUEST for a malformed message.
 */
export function readRepositoryRequest(message: Buffer): RepositoryRequest {
  const request = { repository: '', model: '', parameters: [] as string[] };
  try {
    const fields = new FieldReader(message, { left: MAX_FIELDS });
    while (fields.next()) {
      if (fields.number === 1) request.repository = fields.text();
      else if (fields.number === 2) request.model = fields.text();
      else if (fields.number === 3) request.parameters.push(keyOf(fields.embedded()));
      else fields.skip();
    }
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw invalidRequest('', 'the request is not well formed, or holds too many parameters');
  }
  return request;
}
