/** A module of its own: only a file of tenants needs a reader of YAML, which takes more than a megabyte. */
export { readTenants } from "@causeway/reverse-tunnel";
