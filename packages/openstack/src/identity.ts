import type { Cloud } from "./types/cloud.ts";
import type { CallOptions } from "./types/collection.ts";

/** "region/projectId": what a controller records and compares before it acts, lest it acts on another cloud. */
export async function cloudIdentity(cloud: Cloud, options?: CallOptions): Promise<string> {
  const project = await cloud.projectId(options);
  return `${cloud.region}/${project}`;
}
