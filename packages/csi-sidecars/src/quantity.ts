const PATTERN = /^(\d{1,18})(?:\.(\d{1,9}))?(?:e(\d{1,2})|([kMGTPE])|([KMGTPE])i)?$/i;
const POWERS = ["", "K", "M", "G", "T", "P", "E"];

/** The largest number that CSI has for bytes. Kubernetes accepts larger quantities, and takes them for this one. */
const LARGEST = 2n ** 63n - 1n;

/** Bytes of a quantity ("10Gi", "1.5G", "100"), rounded up; undefined for a text that is none, or is negative. */
export function bytesOfQuantity(text: string | undefined): bigint | undefined {
  const match = PATTERN.exec(text ?? "");
  if (!match) return undefined;
  const [, whole = "0", fraction = "", exponent, decimal, binary] = match;
  const factor =
    exponent === undefined
      ? binary === undefined
        ? 1000n ** BigInt(powerOf(decimal))
        : 1024n ** BigInt(powerOf(binary))
      : 10n ** BigInt(exponent);
  const scale = 10n ** BigInt(fraction.length);
  const bytes = (BigInt(whole + fraction) * factor + scale - 1n) / scale;
  return bytes > LARGEST ? LARGEST : bytes;
}

const powerOf = (suffix: string | undefined): number => POWERS.indexOf((suffix ?? "").toUpperCase());

/** As Kubernetes writes bytes: with the largest binary suffix that divides them. */
export function quantityOfBytes(bytes: bigint): string {
  let [value, power] = [bytes, 0];
  while (value > 0n && value % 1024n === 0n && power < POWERS.length - 1) [value, power] = [value / 1024n, power + 1];
  return power === 0 ? String(value) : `${value}${POWERS[power]}i`;
}
