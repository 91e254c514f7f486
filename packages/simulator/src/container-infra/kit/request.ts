import type { Context } from "hono";
import type { Caller, Table } from "../../kernel/interface.ts";
import { magnumError, type HeatCluster } from "../model.ts";

/** A request to Magnum. */
export type MagnumContext = Context<{ Variables: { caller: Caller } }>;

/** The clusters that the caller sees. */
export function own(clusters: Table<HeatCluster>, c: MagnumContext): readonly HeatCluster[] {
  const { isAdmin, projectId } = c.get("caller");
  return isAdmin ? clusters.all() : clusters.by("project_id", projectId);
}

/** The caller's cluster by its id or its name. Throws Magnum's 404, and 409 for a name that several have. */
export function find(clusters: Table<HeatCluster>, c: MagnumContext, ident: string): HeatCluster {
  const found = own(clusters, c).filter(({ id, name }) => id === ident || name === ident);
  if (found.length > 1)
    throw magnumError(409, `Multiple clusters exist with same name: ${ident}. Please use the cluster uuid instead.`);
  if (!found[0]) throw magnumError(404, `Cluster ${ident} could not be found.`);
  return found[0];
}
