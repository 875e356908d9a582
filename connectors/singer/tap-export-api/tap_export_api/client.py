"""Requests to the Export API."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from decimal import Decimal
from itertools import count
from typing import TYPE_CHECKING, Any

from singer_sdk import RESTStream
from singer_sdk.authenticators import APIKeyAuthenticator
from singer_sdk.exceptions import FatalAPIError

if TYPE_CHECKING:
    from requests import Response

LONGEST_WAIT = 10


class ExportStream(RESTStream):
    """A stream that reads pages. Retries 429, 5xx and dropped connections for several minutes."""

    timeout = 60
    allow_redirects = False

    @property
    def url_base(self) -> str:
        return f"{self.config['base_url'].rstrip('/')}/api/export/v1"

    @property
    def authenticator(self) -> APIKeyAuthenticator:
        return APIKeyAuthenticator(key="X-API-Key", value=self.config["api_key"])

    def backoff_wait_generator(self) -> Generator[float, Any, None]:
        """Yields the seconds before each retry: `Retry-After`, else 1, 2, and so on."""
        error = yield 0
        for tries in count(1):
            response = getattr(error, "response", None)
            retry_after = None if response is None else response.headers.get("Retry-After")
            error = yield int(retry_after or min(tries, LONGEST_WAIT))

    def backoff_jitter(self, value: float) -> float:
        """Returns the seconds unchanged: after `Retry-After`, the service lets the request through."""
        return value

    def backoff_max_tries(self) -> int:
        return 60

    def validate_response(self, response: Response) -> None:
        super().validate_response(response)
        if response.is_redirect:
            msg = f"{self.config['base_url']} redirects. Check base_url."
            raise FatalAPIError(msg)

    def pages(self, **params: str | None) -> Iterator[dict]:
        """Yields the JSON of each page. Raises `FatalAPIError` with the service's message for 4xx but 429.

        `brands_digest` of a page identifies the brands that the key reads, where the response is about all of them.
        """
        send = self.request_decorator(self._request)
        while True:
            request = self.build_prepared_request("GET", f"{self.url_base}{self.path}", params=params)
            response = send(request, None)
            page = response.json(parse_float=Decimal)
            yield {**page, "brands_digest": response.headers.get("X-Brands-Digest")}
            params["cursor"] = page.get("pagination", {}).get("nextCursor")
            if params["cursor"] is None:
                return
