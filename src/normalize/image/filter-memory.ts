import { FILTER_WASM } from './filter-bytes.ts';

/** Bytes that a vector may extend beyond a row. */
export const VECTOR_BYTES = 16;

const PAGE_BYTES = 65_536;

/** Functions of `wasm/filter.ts`. */
interface Filter {
  filterRows(
    ...args: [
      source: number,
      rowBytes: number,
      rows: number,
      table: number,
      entryBytes: number,
      width: number,
      target: number,
    ]
  ): void;
  filterColumns(
    ...args: [source: number, rowBytes: number, weights: number, pairs: number, target: number]
  ): void;
  filterPng(...args: [source: number, rowBytes: number, rows: number, target: number]): void;
}

/** The parts of WebAssembly in use: TypeScript declares it only for browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
};

let compiled: object | null = null;

/** Creates the filters with their own zeroed memory, which is freed with them. */
export function filterWith(bytes: number): { filter: Filter; memory: Uint8Array; view: DataView } {
  compiled ??= new WebAssembly.Module(Buffer.from(FILTER_WASM, 'base64'));
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) });
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory } });
  const filter = exports as Filter;
  return { filter, memory: new Uint8Array(memory.buffer), view: new DataView(memory.buffer) };
}
