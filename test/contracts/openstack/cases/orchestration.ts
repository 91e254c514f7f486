import type { RawGroup } from "../case.ts";

/** Of the shape that Magnum's driver gives its stacks: a network, and a resource group of nodes with ports. */
const template = {
  heat_template_version: "2018-08-31",
  description: "a network and a group",
  parameters: { password: { type: "string", hidden: true } },
  resources: {
    network: { type: "OS::Neutron::Net", properties: { name: "{run}-n" } },
    kube_minions: {
      type: "OS::Heat::ResourceGroup",
      properties: {
        count: 1,
        resource_def: { type: "OS::Neutron::Port", properties: { network: { get_resource: "network" } } },
      },
    },
  },
  outputs: { net: { value: { get_resource: "network" } } },
};

const stack = "/stacks/{run}-s/{id}";

/** What the migration from Magnum's driver reads of Heat, and what it asks for when it retires a cluster. */
export const orchestrationGroups: readonly RawGroup[] = [
  {
    name: "stacks",
    service: "orchestration",
    cases: [
      { says: "no token", call: "GET /stacks", headers: { "x-auth-token": "none" }, statusOnly: true },
      { says: "a name that is none", call: "GET /stacks/{run}-none" },
      { says: "an id that is none", call: "GET /stacks/{nothing}" },
      { says: "a name and an id that are none", call: "GET /stacks/{run}-none/{nothing}" },
      { says: "resources of no stack", call: "GET /stacks/{run}-none/{nothing}/resources" },
      { says: "deletes a stack that is not there", call: "DELETE /stacks/{run}-none/{nothing}" },
      {
        says: "makes a stack",
        call: "POST /stacks",
        body: { stack_name: "{run}-s", template, parameters: { password: "hidden" }, timeout_mins: 5 },
        keep: { id: "stack.id" },
        undo: `DELETE ${stack}`,
      },
      {
        says: "is complete",
        call: `GET ${stack}`,
        until: { field: "stack.stack_status", is: ["CREATE_COMPLETE", "CREATE_FAILED"] },
        exact: [
          "stack.stack_name",
          "stack.stack_status",
          "stack.stack_status_reason",
          "stack.parameters.password",
          "stack.parent",
        ],
      },
      {
        says: "the same name again",
        call: "POST /stacks",
        body: { stack_name: "{run}-s", template, parameters: { password: "x" } },
      },
      { says: "is found by its name", call: "GET /stacks/{run}-s", statusOnly: true },
      { says: "is found by its id", call: "GET /stacks/{id}", statusOnly: true },
      { says: "another name with its id", call: "GET /stacks/{run}-t/{id}" },
      { says: "is listed by its name", call: "GET /stacks?name={run}-s", exact: ["stacks.0.stack_status"] },
      { says: "its resources", call: `GET ${stack}/resources` },
      { says: "resources of those nested in it", call: `GET ${stack}/resources?nested_depth=2` },
      { says: "a depth that is no number", call: `GET ${stack}/resources?nested_depth=x` },
      { says: "a resource that it does not have", call: `GET ${stack}/resources/none` },
      { says: "its template", call: `GET ${stack}/template` },
      { says: "its environment", call: `GET ${stack}/environment`, exact: ["parameters"] },
      { says: "its outputs", call: `GET ${stack}/outputs` },
      { says: "another project reads it", call: `GET ${stack}`, as: "alt", statusOnly: true },
      { says: "is not abandoned where the operator did not allow it", call: `DELETE ${stack}/abandon` },
      { says: "is deleted", call: `DELETE ${stack}` },
      {
        says: "is still read by its id after that",
        call: `GET ${stack}`,
        until: { field: "stack.stack_status", is: ["DELETE_COMPLETE", "DELETE_FAILED", "gone"] },
        exact: ["stack.stack_status", "stack.stack_status_reason"],
        // Heat writes it a moment after the status.
        untyped: ["deletion_time"],
      },
      {
        says: "is listed no more",
        call: "GET /stacks?name={run}-s",
        until: { field: "stacks.0.stack_status", is: ['""'] },
        exact: ["stacks"],
      },
      { says: "is deleted a second time", call: `DELETE ${stack}` },
    ],
  },
];
