import { CallError, type Fault, type OutReason } from './call-error.ts';
import type { CallOptions } from './connection.ts';
import { MODEL_NAME } from '../tensors/protocol.ts';

/**
 * Thrown if the endpoint cannot be used. `fatal` means that retrying does not help. `detail` is a message for users.
 */
export class NotUsable extends Error {
  override readonly name = 'NotUsable';
  readonly reason: OutReason;
  readonly fatal: boolean;

  constructor(reason: OutReason, fatal: boolean, detail: string = reason) {
    super(detail);
    this.reason = reason;
    this.fatal = fatal;
  }
}

/**
 * The error for a guard whose answer to a harmless text is not a verdict. With `prove`, it is known to be a guard, and
 * may recover.
 */
export function failsHarmlessText(prove: boolean, detail: string): NotUsable {
  return prove
    ? new NotUsable('fails on harmless text', false, detail)
    : new NotUsable('not a guard', true, detail);
}

/** Messages for reasons caused by a wrong setting, unless the guard has been in use before. */
const WRONG_SETTING: Partial<Record<OutReason, string>> = {
  'unknown model': `it has no model ${MODEL_NAME}`,
  'unknown path': 'it has no such path: name the base address of the guard, before /v1 or /v2',
  'redirects elsewhere': 'it redirects elsewhere, which is not followed: name the address it redirects to',
  'certificate not trusted': 'its certificate is not trusted: see --guard-ca',
  'certificate refused': 'it requires a certificate that it trusts: see --guard-cert',
};

/** Whether a guard that has been in use may recover without a changed setting. */
export function mayReturn(reason: OutReason): boolean {
  return reason in WRONG_SETTING;
}

/** Converts an error of a call that judges nothing to its meaning for the endpoint. */
export function notUsable(error: unknown, { signal }: Pick<CallOptions, 'signal'>): unknown {
  if (!(error instanceof CallError) || signal.aborted) return error;
  const { fault } = error;
  switch (fault.kind) {
    case 'endpoint':
    case 'barred':
      return new NotUsable(fault.reason, isWrongSetting(fault), WRONG_SETTING[fault.reason]);
    case 'refused':
      return new NotUsable('not a guard', true, 'it does not speak the protocol of a guard');
    case 'attempt':
      return new NotUsable(fault.code === 'TIMEOUT' ? 'no answer in time' : 'not ready', false);
    case 'rate':
    case 'execution':
    case 'overload':
    case 'too-large':
      return new NotUsable('not ready', false);
  }
}

function isWrongSetting(fault: Fault & { readonly kind: 'endpoint' | 'barred' }): boolean {
  return mayReturn(fault.reason) || (fault.kind === 'barred' && fault.fatal);
}
