import type { NodeAddress, Taint } from "@causeway/kubernetes";

/** What is done for one Node. */
export type Step =
  | { readonly type: "set-addresses"; readonly addresses: readonly NodeAddress[] }
  /** One patch of everything outside the status: metadata first seen together with the end of the taint. */
  | {
      readonly type: "set-node";
      readonly providerId?: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly taints?: readonly Taint[];
      /** Null: it is removed. */
      readonly annotations?: Readonly<Record<string, string | null>>;
    }
  | { readonly type: "delete-node"; readonly reason: string };
