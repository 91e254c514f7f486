import { expect } from "vitest";
import type { CaseGroup, ContractCase, Json } from "../interface.ts";
import { CORE_ROWS } from "./rows-core.ts";
import { OTHER_ROWS } from "./rows-others.ts";
import { POD_ROWS } from "./rows-pods.ts";
import type { Row } from "./row.ts";
import { at, done, made } from "./shorthands.ts";
import { collection } from "./defaults.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

/** [path, "Name | Name:type | Name of the wide form+"] */
const COLUMNS: readonly (readonly [path: string, columns: string])[] = [
  ["/api/v1/configmaps", "Name | Data | Age"],
  ["/api/v1/endpoints", "Name | Endpoints | Age"],
  [
    "/api/v1/events",
    "Last Seen | Type | Reason | Object | Subobject+ | Source+ | Message | First Seen+ | Count+ | Name+",
  ],
  ["/api/v1/limitranges", "Name | Created At:date"],
  ["/api/v1/namespaces", "Name | Status | Age"],
  [
    "/api/v1/nodes",
    "Name | Status | Roles | Age | Version | Internal-IP+ | External-IP+ | OS-Image+ | Kernel-Version+ | Container-Runtime+",
  ],
  [
    "/api/v1/persistentvolumeclaims",
    "Name | Status | Volume | Capacity | Access Modes | StorageClass | VolumeAttributesClass | Age | VolumeMode+",
  ],
  [
    "/api/v1/persistentvolumes",
    "Name | Capacity | Access Modes | Reclaim Policy | Status | Claim | StorageClass | VolumeAttributesClass | Reason | Age | VolumeMode+",
  ],
  ["/api/v1/pods", "Name | Ready | Status | Restarts | Age | IP+ | Node+ | Nominated Node+ | Readiness Gates+"],
  ["/api/v1/podtemplates", "Name | Containers | Images | Pod Labels"],
  [
    "/api/v1/replicationcontrollers",
    "Name | Desired:integer | Current:integer | Ready:integer | Age | Containers+ | Images+ | Selector+",
  ],
  ["/api/v1/resourcequotas", "Name | Request | Limit | Age"],
  ["/api/v1/secrets", "Name | Type | Data | Age"],
  ["/api/v1/serviceaccounts", "Name | Secrets | Age"],
  ["/api/v1/services", "Name | Type | Cluster-IP | External-IP | Port(s) | Age | Selector+"],
  ["/apis/apps/v1/controllerrevisions", "Name | Controller | Revision | Age"],
  [
    "/apis/apps/v1/daemonsets",
    "Name | Desired:integer | Current:integer | Ready:integer | Up-to-date:integer | Available:integer | Node Selector | Age | Containers+ | Images+ | Selector+",
  ],
  ["/apis/apps/v1/deployments", "Name | Ready | Up-to-date | Available | Age | Containers+ | Images+ | Selector+"],
  [
    "/apis/apps/v1/replicasets",
    "Name | Desired:integer | Current:integer | Ready:integer | Age | Containers+ | Images+ | Selector+",
  ],
  ["/apis/apps/v1/statefulsets", "Name | Ready | Age | Containers+ | Images+"],
  [
    "/apis/events.k8s.io/v1/events",
    "Last Seen | Type | Reason | Object | Subobject+ | Source+ | Message | First Seen+ | Count+ | Name+",
  ],
  ["/apis/autoscaling/v2/horizontalpodautoscalers", "Name | Reference | Targets | MinPods | MaxPods | Replicas | Age"],
  ["/apis/autoscaling/v1/horizontalpodautoscalers", "Name | Reference | Targets | MinPods | MaxPods | Replicas | Age"],
  [
    "/apis/batch/v1/cronjobs",
    "Name | Schedule | Timezone | Suspend:boolean | Active:integer | Last Schedule | Age | Containers+ | Images+ | Selector+",
  ],
  ["/apis/batch/v1/jobs", "Name | Status | Completions | Duration | Age | Containers+ | Images+ | Selector+"],
  [
    "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    "Name | Age | SignerName | Requestor | RequestedDuration | Condition",
  ],
  ["/apis/networking.k8s.io/v1/ingressclasses", "Name | Controller | Parameters | Age"],
  ["/apis/networking.k8s.io/v1/ingresses", "Name | Class | Hosts | Address | Ports | Age"],
  ["/apis/networking.k8s.io/v1/networkpolicies", "Name | Pod-Selector | Age"],
  [
    "/apis/policy/v1/poddisruptionbudgets",
    "Name | Min Available | Max Unavailable | Allowed Disruptions:integer | Age",
  ],
  ["/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "Name | Role | Age | Users+ | Groups+ | ServiceAccounts+"],
  ["/apis/rbac.authorization.k8s.io/v1/clusterroles", "Name | Created At:date"],
  ["/apis/rbac.authorization.k8s.io/v1/rolebindings", "Name | Role | Age | Users+ | Groups+ | ServiceAccounts+"],
  ["/apis/rbac.authorization.k8s.io/v1/roles", "Name | Created At:date"],
  [
    "/apis/storage.k8s.io/v1/csidrivers",
    "Name | AttachRequired:boolean | PodInfoOnMount:boolean | StorageCapacity:boolean | TokenRequests | RequiresRepublish:boolean | Modes | Age",
  ],
  ["/apis/storage.k8s.io/v1/csinodes", "Name | Drivers:integer | Age"],
  ["/apis/storage.k8s.io/v1/csistoragecapacities", "Name | Created At:date"],
  [
    "/apis/storage.k8s.io/v1/storageclasses",
    "Name | Provisioner | ReclaimPolicy | VolumeBindingMode | AllowVolumeExpansion | Age",
  ],
  ["/apis/storage.k8s.io/v1/volumeattachments", "Name | Attacher | PV | Node | Attached:boolean | Age"],
  ["/apis/storage.k8s.io/v1/volumeattributesclasses", "Name | DriverName | Age"],
  ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "Name | Created At:date"],
  [
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    "Name | Value:integer | Global-Default:boolean | Age | PreemptionPolicy",
  ],
  ["/apis/coordination.k8s.io/v1/leases", "Name | Holder | Age"],
  ["/apis/node.k8s.io/v1/runtimeclasses", "Name | Handler | Age"],
  ["/apis/discovery.k8s.io/v1/endpointslices", "Name | AddressType | Ports | Endpoints | Age"],
  ["/apis/resource.k8s.io/v1/deviceclasses", "Name | Age"],
  ["/apis/resource.k8s.io/v1/resourceclaims", "Name | State | Age"],
  ["/apis/resource.k8s.io/v1/resourceclaimtemplates", "Name | Age"],
  ["/apis/resource.k8s.io/v1/resourceslices", "Name | Node | Driver | Pool | Age"],
];

function columnsText(definitions: unknown): string {
  return (definitions as Json[])
    .map(
      ({ name, type, priority }) =>
        `${String(name)}${type === "string" ? "" : `:${String(type)}`}${priority === 0 ? "" : "+"}`,
    )
    .join(" | ");
}

function hasColumns([path, columns]: readonly [string, string]): ContractCase {
  return {
    name: `a Table of ${path} has its columns`,
    async run({ api }) {
      const body = await done(api.get(path, { headers: { accept: TABLE } }));
      expect(columnsText(body["columnDefinitions"])).toBe(columns);
      const [first] = body["columnDefinitions"] as Json[];
      expect(first).toMatchObject(path.endsWith("/events") ? { name: "Last Seen" } : { name: "Name", format: "name" });
    },
  };
}

function saysInItsRow(row: Row, i: number): ContractCase {
  return {
    name: `the row of kubectl for a ${row.kind} is ${row.cells.join(" ")} (${i})`,
    async run(c) {
      if (row.kind === "Pod") {
        const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
        await c.api.post(c.core("serviceaccounts"), account);
      }
      const { apiVersion, kind } = row;
      const name = row.clusterScoped ? c.unique("row") : "x";
      const given = JSON.parse(JSON.stringify(row.given).replaceAll("NAMESPACE", c.namespace)) as Json;
      const path = collection(c, row);
      await made(c.api.post(path, { apiVersion, kind, metadata: { ...row.metadata, name }, ...given }));
      if (row.status) await done(c.api.patch(`${path}/${name}/status`, "merge", { status: row.status }));
      const body = await done(c.api.get(`${path}/${name}`, { headers: { accept: TABLE } }));
      const cells = at(body, "rows", 0, "cells") as unknown[];
      const shown = cells.map((cell) => (cell === name ? "NAME" : /^\d+s$/.test(String(cell)) ? "AGE" : cell));
      expect(shown).toEqual(row.cells);
    },
  };
}

export const kubectlColumns: CaseGroup = {
  title: "columns of kubectl",
  cases: [...COLUMNS.map(hasColumns), ...[...POD_ROWS, ...CORE_ROWS, ...OTHER_ROWS].map(saysInItsRow)],
};
