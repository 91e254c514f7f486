import type { OpenStackMachine, PortSpec } from "@causeway/api";

/** A machine that was made from the template gets its ports' address pairs. */
export interface TemplateStep {
  readonly type: "set-address-pairs";
  readonly machine: OpenStackMachine;
  /** All ports of the machine. */
  readonly ports: readonly PortSpec[];
}
