import { redisBinary } from './redis-binary.ts';

/** Once, before tests run side by side: two of them must not install it at the same time. */
export default function setup(): void {
  redisBinary();
}
