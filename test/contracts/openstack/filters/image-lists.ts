import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { made } from "./made.ts";

const metadefs = (
  path: string,
  many: string,
  idField: string,
  make: readonly RawCase[],
  more: FilteredList["more"] = {},
): FilteredList => ({ service: "image", path: `${path}?limit=1000`, many, as: "admin", idField, make, more });

const namespace = (keep: string): RawCase => ({
  says: "a namespace",
  call: "POST /v2/metadefs/namespaces",
  as: "admin",
  body: {
    namespace: "{run}-n",
    display_name: "{run}",
    description: "{run}",
    visibility: "public",
    resource_type_associations: [{ name: "OS::Nova::Flavor" }],
  },
  keep: { [keep]: "namespace" },
  undo: "DELETE /v2/metadefs/namespaces/{run}-n",
});
const inNamespace = (what: string, body: object | undefined): RawCase => ({
  says: "a part of it",
  call: `POST /v2/metadefs/namespaces/{space}/${what}`,
  as: "admin",
  ...(body ? { body } : {}),
  keep: { id: "name" },
});

export const imageLists: readonly FilteredList[] = [
  {
    service: "image",
    path: "/v2/images?limit=1000",
    many: "images",
    as: "member",
    make: [
      made({
        path: "/v2/images",
        one: "",
        body: {
          name: "{run}-i",
          disk_format: "raw",
          container_format: "bare",
          min_disk: 3,
          min_ram: 5,
          tags: ["{run}"],
          os_distro: "{run}",
        },
        more: { as: "member" },
      }),
    ],
    more: { tag: ["{run}", "{run}-x"] },
  },
  {
    service: "image",
    path: "/v2/images/{image}/members",
    many: "members",
    as: "member",
    idField: "member_id",
    make: [
      made({
        path: "/v2/images",
        one: "",
        body: { name: "{run}-i", visibility: "shared" },
        keep: "image",
        more: { as: "member" },
      }),
      {
        says: "a member",
        call: "POST /v2/images/{image}/members",
        body: { member: "{altProject}" },
        keep: { id: "member_id" },
      },
    ],
  },
  metadefs("/v2/metadefs/namespaces", "namespaces", "namespace", [namespace("id")], {
    resource_types: ["OS::Nova::Flavor", "OS::Nova::Server"],
    visibility: ["public", "private"],
  }),
  metadefs("/v2/metadefs/namespaces/{space}/objects", "objects", "name", [
    namespace("space"),
    inNamespace("objects", { name: "{run}-o", description: "{run}" }),
  ]),
  metadefs("/v2/metadefs/namespaces/{space}/tags", "tags", "name", [
    namespace("space"),
    inNamespace("tags/{run}-t", undefined),
  ]),
  metadefs("/v2/metadefs/namespaces/{space}/resource_types", "resource_type_associations", "name", [
    namespace("space"),
    {
      says: "its types",
      call: "GET /v2/metadefs/namespaces/{space}/resource_types",
      as: "admin",
      keep: { id: "resource_type_associations.0.name" },
    },
  ]),
  metadefs("/v2/metadefs/resource_types", "resource_types", "name", [
    namespace("space"),
    { says: "a type", call: "GET /v2/metadefs/resource_types", as: "admin", keep: { id: "resource_types.0.name" } },
  ]),
  {
    service: "image",
    path: "/v2/tasks",
    many: "tasks",
    as: "admin",
    make: [
      made({
        path: "/v2/images",
        one: "",
        body: { name: "{run}-i", disk_format: "raw", container_format: "bare" },
        keep: "image",
      }),
      {
        says: "its bytes",
        call: "PUT /v2/images/{image}/stage",
        as: "admin",
        headers: { "content-type": "application/octet-stream" },
        body: "bytes",
      },
      {
        says: "are imported, which is a task",
        call: "POST /v2/images/{image}/import",
        as: "admin",
        body: { method: { name: "glance-direct" } },
      },
      {
        says: "the image is active",
        call: "GET /v2/images/{image}",
        as: "admin",
        until: { field: "status", is: ["active", "killed"] },
      },
      {
        says: "the task is over",
        call: "GET /v2/images/{image}/tasks",
        as: "admin",
        until: { field: "tasks.0.status", is: ["success", "failure"] },
        keep: { id: "tasks.0.id" },
      },
    ],
    more: { type: ["api_image_import", "import"], status: ["success", "failure"] },
  },
];
