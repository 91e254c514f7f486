import { InputError } from "@causeway/foundation";

/** The key of an object of a namespace. */
export interface NamespacedKey {
  readonly namespace: string;
  readonly name: string;
}

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** "NAMESPACE/NAME", or a name in the namespace. @throws FLAG_INVALID */
export function objectKeyOf(text: string, namespace: string): NamespacedKey {
  const parts = text.split("/");
  const [first = "", second] = parts;
  if (parts.length > 2 || parts.some((part) => !NAME.test(part)))
    throw new InputError("FLAG_INVALID", `${text} is not NAMESPACE/NAME.`, { hint: "Specify NAME or NAMESPACE/NAME." });
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}
