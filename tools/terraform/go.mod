// The release of the Terraform provider for OpenStack whose acceptance tests `npm run test:terraform` builds.
module causeway.invalid/terraform

go 1.24.0

require (
	github.com/terraform-provider-openstack/terraform-provider-openstack/v3 v3.4.0
)
