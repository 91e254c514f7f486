import { parseCidr } from "@causeway/foundation";

/** What becomes of a label of Magnum: it is mapped, it is accepted without effect, or its value is refused. */
export interface LabelRule {
  readonly act: "mapped" | "noted";
  /** Has this value an effect? Undefined: all have. */
  readonly works?: (value: string) => boolean;
  /** Why a value is refused; undefined: it is accepted. */
  readonly refuse?: (value: string) => string | undefined;
}

/** Whether a label's value is one of the words that oslo reads as true, in any case; undefined is false. */
export const isTrue = (value: string | undefined): boolean => /^(true|yes|on|1|t|y)$/i.test(value ?? "");
/** Whether a label's value is one of the words that oslo reads as false, in any case; the empty text is one. */
export const isFalse = (value: string): boolean => /^(false|no|off|0|f|n|)$/i.test(value);

/** The rule of a label that changes what is built; `refuse` says why a value is not accepted. */
export const mapped = (refuse?: LabelRule["refuse"]): LabelRule => ({ act: "mapped", ...(refuse ? { refuse } : {}) });
/** The rule of a label that is accepted without effect; the cluster's status reason names it. */
export const noted: LabelRule = { act: "noted" };
/** For `mapped`: refuses what is neither `isTrue` nor `isFalse`. */
export const boolean = (value: string) =>
  isTrue(value) || isFalse(value) ? undefined : "the value is neither true nor false";
/** For `mapped`: refuses what is not a whole number of 1 to 9 digits. */
export const whole = (value: string) => (/^\d{1,9}$/.test(value) ? undefined : "the value is not a whole number");
/** For `mapped`: refuses what is not a CIDR of IPv4 or IPv6, such as 10.0.0.0/24. */
export const cidr = (value: string) => (parseCidr(value) === undefined ? "the value is not a CIDR" : undefined);
/** The rule of a label for what is not supported: only the empty value, which turns it off, is accepted. */
export const onlyEmpty = (what: string): LabelRule =>
  mapped((value) => (value === "" ? undefined : `${what} is not supported`));

const ipv4 = (value: string) =>
  parseCidr(value)?.version === 4 ? undefined : "the value is not an IPv4 network such as 10.100.0.0/16";
/** A network of pods: the add-on that makes it has IPv4. */
export const podNetwork = mapped(ipv4);
