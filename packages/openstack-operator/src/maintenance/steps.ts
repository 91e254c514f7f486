/** What is done next; `name` is a node, a budget ("forget") or a server. */
export type MaintenanceStep =
  | { readonly type: "guard" | "hold" | "release" | "forget"; readonly name: string }
  /** Deletes what the cloud still has of a host: network agents, compute service, and a provider that Nova left. */
  | { readonly type: "remove"; readonly name: string; readonly service: string; readonly agents: readonly string[] }
  | { readonly type: "disable"; readonly name: string; readonly service: string; readonly reason: string }
  | { readonly type: "enable" | "force-down" | "force-up"; readonly name: string; readonly service: string }
  | {
      readonly type: "live-migrate" | "migrate" | "evacuate";
      /** The server's id. */
      readonly name: string;
      readonly node: string;
    };
