/**
 * Releases of OpenStack differ in a few options of some thousands: a schema is written as its changes since the one
 * before it, in the form of RFC 7386 (null removes a member).
 */
export interface Changes {
  readonly [name: string]: Changes | string | null;
}

/** A schema as nested objects of texts. */
export interface Members {
  readonly [name: string]: Members | string;
}

/** What makes `to` of `from`. */
export function changesBetween(from: Members, to: Members): Changes {
  const found: Record<string, Changes | string | null> = {};
  for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) found[name] = null;
  for (const [name, value] of Object.entries(to)) {
    const before = from[name];
    if (typeof value === "string") {
      if (value !== before) found[name] = value;
      continue;
    }
    const inside = changesBetween(typeof before === "object" ? before : {}, value);
    if (typeof before !== "object" || Object.keys(inside).length > 0) found[name] = inside;
  }
  return found;
}

/** The members with these changes. Neither argument is changed. */
export function changed(from: Members, changes: Changes): Members {
  const result: Record<string, Members | string> = { ...from };
  for (const [name, change] of Object.entries(changes)) {
    const before = result[name];
    if (change === null) delete result[name];
    else if (typeof change === "string") result[name] = change;
    else result[name] = changed(typeof before === "object" ? before : {}, change);
  }
  return result;
}
