export { compileSchema, type CompiledSchema } from "./compile.ts";
export { formatFieldError, type FieldError, type FieldErrorReason } from "./field-error.ts";
export { validateCustomResourceDefinitionSchema } from "./structural.ts";
export type { Shape } from "./shape.ts";
