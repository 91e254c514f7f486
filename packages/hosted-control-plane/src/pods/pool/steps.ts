/** The shared etcd is made of the same steps as a control plane. */
export type { Step } from "../steps.ts";
