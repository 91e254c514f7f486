import type { KeyPair } from "@causeway/foundation";
import type { Kernel, Table } from "../kernel/interface.ts";
import type { JsonObject } from "../kernel/json.ts";
import { ServiceError } from "../kernel/service-error.ts";

/** A cluster as Magnum's Heat driver left it: what its API returns, and the authorities that sign its certificates. */
export interface HeatCluster {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
  readonly cluster: JsonObject;
  readonly template: JsonObject;
  readonly nodegroups: readonly JsonObject[];
  readonly authorities: { readonly kubernetes: KeyPair; readonly etcd: KeyPair; readonly frontProxy: KeyPair };
  /** A rule of the policy file denies every change of it. */
  readonly isDenied: boolean;
}

/** The clusters of Magnum's database. Tests put them there (`magnumControl`): the API creates none. */
export const heatClusters = (kernel: Kernel): Table<HeatCluster> =>
  kernel.table("_heat_cluster", ["project_id", "name"]);

const titles: Readonly<Record<number, string>> = { 400: "Bad Request", 403: "Forbidden", 404: "Not Found" };

/** An error with Magnum's body. */
export function magnumError(status: number, detail: string): ServiceError {
  const error = { request_id: "", code: "client", status, title: titles[status] ?? "Error", detail, links: [] };
  return new ServiceError(status, { errors: [error] });
}
