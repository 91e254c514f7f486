export { compileSchema, type CompiledSchema } from "./compile.ts";
export { formatFieldError } from "./field-error.ts";
export { validateCustomResourceDefinitionSchema } from "./definition/validate.ts";
export { followFieldPath } from "./definition/field-path.ts";
