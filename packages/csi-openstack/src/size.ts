import { CausewayError } from "@causeway/foundation";

/** Bytes of a GiB. */
export const GIB = 1024n ** 3n;

/** The part of a capacity range that is read. */
export interface CapacityRange {
  readonly requiredBytes: bigint;
  readonly limitBytes: bigint;
}

/**
 * Whole GiB for a capacity range, rounded up; 1 without a range. Throws CSI_OUT_OF_RANGE, CSI_INVALID_ARGUMENT.
 * @example
 * gibOf({ requiredBytes: 1_500_000_000n, limitBytes: 0n }); // 2
 */
export function gibOf(range: CapacityRange | undefined): number {
  const { requiredBytes = 0n, limitBytes = 0n } = range ?? {};
  if (requiredBytes < 0n || limitBytes < 0n) {
    throw new CausewayError("CSI_INVALID_ARGUMENT", "The capacity range has a negative value.");
  }
  const rounded = requiredBytes === 0n ? 1n : (requiredBytes + GIB - 1n) / GIB;
  if (limitBytes > 0n && rounded * GIB > limitBytes) {
    throw new CausewayError(
      "CSI_OUT_OF_RANGE",
      `The capacity is rounded up to ${rounded} GiB, which exceeds the limit of ${limitBytes} bytes.`,
      { hint: "Volumes have whole GiB; request a limit of whole GiB." },
    );
  }
  return Number(rounded);
}

/** Bytes of a size in GiB. */
export const bytesOf = (gib: number): bigint => BigInt(gib) * GIB;
