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
      {
        says: "a request without a token is rejected",
        call: "GET /stacks",
        headers: { "x-auth-token": "none" },
        statusOnly: true,
      },
      { says: "a stack of an unknown name is not found", call: "GET /stacks/{run}-none" },
      { says: "a stack of an unknown ID is not found", call: "GET /stacks/{nothing}" },
      { says: "a stack of an unknown name and ID is not found", call: "GET /stacks/{run}-none/{nothing}" },
      { says: "resources of a missing stack are not found", call: "GET /stacks/{run}-none/{nothing}/resources" },
      { says: "a missing stack is not deleted", call: "DELETE /stacks/{run}-none/{nothing}" },
      {
        says: "a stack is created",
        call: "POST /stacks",
        body: { stack_name: "{run}-s", template, parameters: { password: "hidden" }, timeout_mins: 5 },
        keep: { id: "stack.id" },
        undo: `DELETE ${stack}`,
      },
      {
        says: "a new stack becomes complete",
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
        says: "a second stack of the same name is rejected",
        call: "POST /stacks",
        body: { stack_name: "{run}-s", template, parameters: { password: "x" } },
      },
      { says: "a stack name redirects to the stack", call: "GET /stacks/{run}-s", statusOnly: true },
      { says: "a stack ID redirects to the stack", call: "GET /stacks/{id}", statusOnly: true },
      { says: "a stack ID with another name is not found", call: "GET /stacks/{run}-t/{id}" },
      { says: "a stack is listed by its name", call: "GET /stacks?name={run}-s", exact: ["stacks.0.stack_status"] },
      { says: "the resources of a stack are listed", call: `GET ${stack}/resources` },
      { says: "resources of nested stacks are listed", call: `GET ${stack}/resources?nested_depth=2` },
      { says: "a nested depth that is no number is rejected", call: `GET ${stack}/resources?nested_depth=x` },
      { says: "a missing resource of a stack is not found", call: `GET ${stack}/resources/none` },
      { says: "the template of a stack is shown", call: `GET ${stack}/template` },
      { says: "the environment of a stack is shown", call: `GET ${stack}/environment`, exact: ["parameters"] },
      { says: "the outputs of a stack are listed", call: `GET ${stack}/outputs` },
      { says: "a stack is not shown to another project", call: `GET ${stack}`, as: "alt", statusOnly: true },
      { says: "an abandon of a stack is rejected where the operator disabled it", call: `DELETE ${stack}/abandon` },
      { says: "a stack is deleted", call: `DELETE ${stack}` },
      {
        says: "a deleted stack is shown by its ID",
        call: `GET ${stack}`,
        until: { field: "stack.stack_status", is: ["DELETE_COMPLETE", "DELETE_FAILED", "gone"] },
        exact: ["stack.stack_status", "stack.stack_status_reason"],
        // Heat writes it a moment after the status.
        untyped: ["deletion_time"],
      },
      {
        says: "a deleted stack is not listed",
        call: "GET /stacks?name={run}-s",
        until: { field: "stacks.0.stack_status", is: ['""'] },
        exact: ["stacks"],
      },
      { says: "a deleted stack is not deleted again", call: `DELETE ${stack}` },
    ],
  },
];
