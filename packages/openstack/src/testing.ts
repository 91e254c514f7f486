export { runContractCase, type ContractCase, type ContractContext, type ContractSettings } from "./contract/case.ts";
export { openstackContract } from "./contract/contract.ts";
