"""Requests to the Export API."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from decimal import Decimal
from email.utils import mktime_tz, parsedate_tz
from itertools import count
from time import time
from typing import TYPE_CHECKING, Any

from requests.exceptions import JSONDecodeError
from singer_sdk import RESTStream
from singer_sdk.authenticators import APIKeyAuthenticator
from singer_sdk.exceptions import FatalAPIError, RetriableAPIError

if TYPE_CHECKING:
    from requests import PreparedRequest, Response

LONGEST_WAIT = 10


def seconds_of(retry_after: str) -> float | None:
    """Returns the seconds that `Retry-After` asks for, as a number or a date; None when it is neither."""
    if retry_after.replace(".", "", 1).isdecimal():
        return float(retry_after)
    date = parsedate_tz(retry_after)
    return None if date is None else mktime_tz(date) - time()


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
        """Yields the seconds before each retry: `Retry-After`, at least 1, else 1, 2, and so on."""
        error = yield 0
        for tries in count(1):
            response = getattr(error, "response", None)
            seconds = None if response is None else seconds_of(response.headers.get("Retry-After", ""))
            error = yield min(tries, LONGEST_WAIT) if seconds is None else max(seconds, 1)

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

    def read_page(self, request: PreparedRequest, context: Any) -> Any:
        """Returns the JSON of a response. A length is not always declared, so only the JSON shows a body cut short."""
        response = self._request(request, context)
        try:
            page = response.json(parse_float=Decimal)
        except JSONDecodeError as error:
            if response.headers.get("Content-Type", "").startswith("application/json"):
                msg = f"The response of {self.path} is cut short."
                raise RetriableAPIError(msg, response) from error
            raise
        return {**page, "brands_digest": response.headers.get("X-Brands-Digest")}

    def pages(self, **params: str | None) -> Iterator[dict]:
        """Yields the JSON of each page. Raises `FatalAPIError` with the service's message for 4xx but 429.

        `brands_digest` of a page identifies the brands that the key reads, where the response is about all of them.
        """
        send = self.request_decorator(self.read_page)
        while True:
            page: Any = send(self.build_prepared_request("GET", f"{self.url_base}{self.path}", params=params), None)
            yield page
            params["cursor"] = page.get("pagination", {}).get("nextCursor")
            if params["cursor"] is None:
                return
