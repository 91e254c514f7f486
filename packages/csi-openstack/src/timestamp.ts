/** A CSI timestamp of what OpenStack writes: UTC without a zone. The epoch when it cannot be read. */
export function timestampOf(text: string): { readonly seconds: bigint; readonly nanos: number } {
  const milliseconds = Date.parse(/(?:z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  if (Number.isNaN(milliseconds)) return { seconds: 0n, nanos: 0 };
  return { seconds: BigInt(Math.floor(milliseconds / 1000)), nanos: (milliseconds % 1000) * 1_000_000 };
}
