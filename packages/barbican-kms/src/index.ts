export { runBarbicanKms, type BarbicanKmsOptions } from "./barbican-kms.ts";
