import { isRecord } from "@causeway/foundation";
import type { ServiceClient } from "../session/client.ts";
import type { CallOptions } from "../types/collection.ts";
import { objectIn } from "./wire.ts";

/** The numbers under limits.absolute of GET /limits, as compute, block storage and shared file systems return it. */
export async function absoluteLimits(client: ServiceClient, options?: CallOptions): Promise<Record<string, number>> {
  const limits = objectIn<unknown>(await client.send({ method: "GET", route: "/limits" }, options), "limits");
  const absolute = isRecord(limits) ? objectIn<Record<string, unknown>>(limits, "absolute") : {};
  return Object.fromEntries(Object.entries(absolute).filter((e): e is [string, number] => typeof e[1] === "number"));
}
