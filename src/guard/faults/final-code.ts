import type { ItemCode } from '../../domain/item-error.ts';
import type { Fault } from '../protocol/call-error.ts';

/** What an item ends with when a guard answers it with this fault each time, or cannot be asked again. */
export function finalCodeOf(fault: Fault): ItemCode {
  switch (fault.kind) {
    case 'refused':
    case 'attempt':
      return fault.code;
    case 'too-large':
      return 'ITEM_TOO_LARGE';
    case 'execution':
      return 'GUARD_INTERNAL';
    case 'overload':
    case 'rate':
      return 'GUARD_OVERLOADED';
    case 'endpoint':
    case 'barred':
      return 'GUARD_UNAVAILABLE';
  }
}
