//! The role that a route needs, stated where the route is listed. The description of the API
//! (`x-role`) and the router's check both use it.

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::routing::MethodRouter;
use model::Role;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa_axum::router::UtoipaMethodRouter;

use super::RouterState;
use crate::gate::require_role;

/// Everyone who is known: may see everything but bodies.
pub(super) const VIEWER: Needs = Needs(Role::Viewer);
/// May stop and activate agents, and see bodies.
pub(super) const OPERATOR: Needs = Needs(Role::Operator);
/// May change settings, keys and people.
pub(super) const ADMIN: Needs = Needs(Role::Admin);

/// Routes that need a role.
#[derive(Clone, Copy)]
pub(super) struct Needs(Role);

impl Needs {
    /// Operations of the API.
    pub(super) fn api(
        self,
        (schemas, mut paths, methods): UtoipaMethodRouter<RouterState>,
    ) -> UtoipaMethodRouter<RouterState> {
        for item in paths.paths.values_mut() {
            operations(item).into_iter().flatten().for_each(|operation| self.describe(operation));
        }
        (schemas, paths, self.page(methods))
    }

    /// Pages and forms.
    pub(super) fn page(self, methods: MethodRouter<RouterState>) -> MethodRouter<RouterState> {
        let Needs(role) = self;
        methods.route_layer(from_fn(move |request: Request, next: Next| require_role(role, request, next)))
    }

    fn describe(self, operation: &mut Operation) {
        let role = ExtensionsBuilder::new().add("x-role", self.0.as_str()).build();
        operation.extensions.get_or_insert_default().merge(role);
    }
}

fn operations(item: &mut PathItem) -> [Option<&mut Operation>; 5] {
    [item.get.as_mut(), item.post.as_mut(), item.put.as_mut(), item.patch.as_mut(), item.delete.as_mut()]
}
