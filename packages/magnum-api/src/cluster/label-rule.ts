import { parseCidr } from "@causeway/foundation";

/** What becomes of a label of Magnum: it is mapped, it is accepted without effect, or its value is refused. */
export interface LabelRule {
  readonly act: "mapped" | "noted";
  /** Has this value an effect? Undefined: all have. */
  readonly works?: (value: string) => boolean;
  /** Why a value is refused; undefined: it is accepted. */
  readonly refuse?: (value: string) => string | undefined;
}

export const isTrue = (value: string | undefined): boolean => /^(true|yes|on|1|t|y)$/i.test(value ?? "");
export const isFalse = (value: string): boolean => /^(false|no|off|0|f|n|)$/i.test(value);

export const mapped = (refuse?: LabelRule["refuse"]): LabelRule => ({ act: "mapped", ...(refuse ? { refuse } : {}) });
export const noted: LabelRule = { act: "noted" };
export const boolean = (value: string) =>
  isTrue(value) || isFalse(value) ? undefined : "the value is neither true nor false";
export const whole = (value: string) => (/^\d{1,9}$/.test(value) ? undefined : "the value is not a whole number");
export const cidr = (value: string) => (parseCidr(value) === undefined ? "the value is not a CIDR" : undefined);
export const onlyEmpty = (what: string): LabelRule =>
  mapped((value) => (value === "" ? undefined : `${what} is not supported`));

const ipv4 = (value: string) =>
  parseCidr(value)?.version === 4 ? undefined : "the value is not an IPv4 network such as 10.100.0.0/16";
/** A network of pods: the add-on that makes it has IPv4. */
export const podNetwork = mapped(ipv4);
