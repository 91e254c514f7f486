import type { KubeObject } from "@causeway/kubernetes";
import { forbidden, type GroupResource } from "../../errors/status.ts";

/** The resource as messages name it. */
export const PODS: GroupResource = { group: "", plural: "pods" };

/** The 403 of admission, about an object whose name may still be to be made up. */
export function refusal(resource: GroupResource, { metadata }: KubeObject, why: string): Error {
  return forbidden(resource, metadata.name || metadata.generateName || "Unknown!", why);
}
