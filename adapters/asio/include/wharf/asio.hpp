#pragma once

// All of the adapter for Boost.Asio.

#include <wharf/asio/awaited.hpp>
#include <wharf/asio/io_thread.hpp>
#include <wharf/asio/post_to.hpp>
#include <wharf/asio/queue_executor.hpp>
