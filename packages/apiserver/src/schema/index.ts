export { compileSchema, type CompiledSchema } from "./compile.ts";
export { formatFieldError } from "./field-error.ts";
export { validateCustomResourceDefinitionSchema } from "./structural.ts";
