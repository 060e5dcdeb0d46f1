import { loadService } from '../../guard/tensors/service.ts';
import { invalidRequest } from '../contract/request-error.ts';
import type { RepositoryRequest } from '../service/model-repository.ts';

/** Max bytes of a message: it holds two names, and a parameter or two. */
const MAX_BYTES = 16 * 1024;

interface DecodedRequest {
  readonly repository_name: string;
  readonly model_name: string;
  readonly parameters: Readonly<Record<string, object>>;
}

/**
 * Decodes a RepositoryModelLoadRequest or RepositoryModelUnloadRequest, whose fields are the same. Throws RequestError:
 * INVALID_REQUEST for a malformed message, and for one with more than MAX_BYTES.
 */
export function readRepositoryRequest(message: Buffer): RepositoryRequest {
  const decoded = message.length <= MAX_BYTES ? decode(message) : null;
  if (decoded === null) {
    throw invalidRequest('', 'the request is not well formed, or holds too many parameters');
  }
  const { repository_name: repository, model_name: model, parameters } = decoded;
  return { repository, model, parameters: Object.keys(parameters) };
}

/** Null for a malformed message. */
function decode(message: Buffer): DecodedRequest | null {
  try {
    return loadService()['RepositoryModelLoad']!.requestDeserialize(message) as DecodedRequest;
  } catch {
    // The error is dropped: its text could quote the message.
    return null;
  }
}
