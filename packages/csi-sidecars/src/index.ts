export type { Context, Migration, SidecarDriver } from "./context.ts";
export { createSidecars, type Sidecars } from "./sidecars.ts";
