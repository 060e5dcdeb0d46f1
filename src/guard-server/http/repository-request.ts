import { invalidRequest } from '../contract/request-error.ts';
import { JsonCursor, MalformedJson } from './json-cursor.ts';

/** The bodies of requests to the model repository; an empty body stands for an empty object. */

/** Max members of all objects in a body. */
const MAX_VALUES = 1024;

/** `ready` of a request for the index: whether it lists ready models only. Throws RequestError: INVALID_REQUEST. */
export function readIndexRequest(body: Buffer): boolean {
  let readyOnly = false;
  readMembers(body, (name, reader) => {
    if (name === 'ready') readyOnly = reader.boolean();
    else reader.skip();
  });
  return readyOnly;
}

/** The names of the `parameters` of a request to load or unload. Throws RequestError: INVALID_REQUEST. */
export function readParameterNames(body: Buffer): readonly string[] {
  const names: string[] = [];
  readMembers(body, (member, reader) => {
    if (member !== 'parameters') {
      reader.skip();
      return;
    }
    reader.members((name) => {
      names.push(name);
      reader.skip();
    });
  });
  return names;
}

function readMembers(body: Buffer, read: (name: string, reader: JsonCursor) => void): void {
  if (body.length === 0) return;
  const reader = new JsonCursor(body, MAX_VALUES);
  try {
    reader.members((name) => read(name, reader));
    reader.end();
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error;
    throw invalidRequest('', `the JSON of the request is not usable: ${error.message}`);
  }
}
