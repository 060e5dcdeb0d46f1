/** A written policy that a model judges by. */
export interface GuardPolicy {
  /** Of the file, 64 hex digits. */
  readonly sha256: string;
  readonly text: string;
}
