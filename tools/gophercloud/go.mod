// The release of gophercloud whose acceptance tests `npm run test:gophercloud` builds.
module causeway.invalid/gophercloud

go 1.24.0

require (
	github.com/gophercloud/gophercloud/v2 v2.9.0
)
