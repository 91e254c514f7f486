import type { ServiceClient } from "../session/client.ts";
import type { CallOptions } from "../types/collection.ts";
import { listIn } from "./wire.ts";

/** Makes many objects of a collection in one request: all or none. */
export type Bulk = <T>(many: string, bodies: readonly unknown[], options?: CallOptions) => Promise<T[]>;

/** `many` is the plural with underscores, as the body has it: "security_group_rules". No bodies: no request. */
export function createBulk(client: ServiceClient): Bulk {
  return async <T>(many: string, bodies: readonly unknown[], options?: CallOptions): Promise<T[]> => {
    if (bodies.length === 0) return [];
    return client.create({
      method: "POST",
      route: `/${many.replaceAll("_", "-")}`,
      body: { [many]: bodies },
      size: bodies.length,
      read: (answer) => listIn<T>(answer, many),
      options: options ?? {},
    });
  };
}
