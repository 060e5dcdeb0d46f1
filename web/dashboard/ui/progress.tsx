interface Props {
  /** Label for screen readers. */
  readonly label: string;
  /** From 0 to 1; null if unknown. */
  readonly share: number | null;
  /** Whether it is not moving. */
  readonly still?: boolean;
}

export function Progress({ label, share, still = false }: Props) {
  const percent = share === null ? null : Math.floor(100 * share);
  return (
    <div
      class={`progress ${still ? 'is-still' : ''} ${share === null ? 'is-unknown' : ''}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(percent !== null && { 'aria-valuenow': percent })}
    >
      <div style={{ width: percent === null ? '30%' : `${100 * (share ?? 0)}%` }} />
    </div>
  );
}
