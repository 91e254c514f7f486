export { allComponents } from "./all.ts";
export { resolveCatalogue, type Catalogue, type ExternalBackend } from "./resolve.ts";
