import { InputError } from "@causeway/foundation";

interface Named {
  readonly id: string;
  readonly name?: string | null;
}

/** Throws FLAVOR_NOT_FOUND or IMAGE_NOT_FOUND, with those that the cloud has, if none has the name. */
export function requireNamed(what: "flavor" | "image", name: string, all: readonly Named[]): void {
  if (all.some((one) => one.name === name)) return;
  const names = [...new Set(all.map((one) => one.name ?? one.id))].sort();
  throw new InputError(
    `${what.toUpperCase()}_NOT_FOUND`,
    `there is no ${what} ${name} in the cloud; there are: ${names.join(", ")}`,
    { hint: `Choose one of them with --${what}. Nothing was made.` },
  );
}
