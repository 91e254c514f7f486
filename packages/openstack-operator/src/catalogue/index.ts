export { allComponents, defaultServices } from "./all.ts";
export { resolveCatalogue, type Catalogue, type ExternalBackend } from "./resolve.ts";
export { brokerOf, databaseOf } from "./words.ts";
